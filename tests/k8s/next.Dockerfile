# The version after this one, to upgrade to: the same, with one migration more, which this one also runs on.
FROM localhost/submind:dev
USER 0
RUN cd /opt/project/environment/stores/cassandra/schema && known=$(ls ./*.cql | wc -l) \
 && printf -- '-- runs with schema %d\nCREATE TABLE IF NOT EXISTS later_thoughts (id text PRIMARY KEY);\n' "$known" \
    >"$(printf '%03d' $((known + 1)))_later_thoughts.cql" && cat ./*_later_thoughts.cql
USER 10001:10001
