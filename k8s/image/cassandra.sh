# Starts Cassandra on this pod's address (POD_IP) with the configuration in /etc/cassandra and its data in DATA.
set -eu
mkdir -p "$DATA/triggers"
sed -e "s|POD_IP|$POD_IP|g" -e "s|DATA|$DATA|g" /etc/cassandra/cassandra.yaml >/tmp/cassandra.yaml
exec java @/opt/cassandra/cassandra.options -Djava.io.tmpdir=/tmp -Xms"$HEAP" -Xmx"$HEAP" \
  -Dcassandra.config=file:///tmp/cassandra.yaml -Dcassandra.storagedir="$DATA" -Dcassandra.triggers_dir="$DATA/triggers" \
  org.apache.cassandra.service.CassandraDaemon
