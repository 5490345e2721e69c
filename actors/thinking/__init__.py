"""Active thinking: for each conscious thought, ignore it or act; results live in working memory."""
