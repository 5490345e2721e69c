"""Who may do what to a mind: certificates, tokens with scopes, JWT, quotas, and a log of who did what."""
