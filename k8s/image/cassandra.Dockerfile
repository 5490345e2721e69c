# One Cassandra node for development, of the jars in build/cassandra (tests/servers/pom.xml names them) on Java 17.
# Production has a cluster of its own. From the root of the project: `make images`.

FROM python:3.11-slim
# Unpacked only: Java's own list of authorities, which its installation would write, is of no use here.
RUN apt-get update && cd /tmp && apt-get download openjdk-17-jre-headless && dpkg -x openjdk-17-jre-headless_*.deb / \
 && rm -rf openjdk-17-jre-headless_*.deb /var/lib/apt/lists/* /var/cache/* /var/log/* \
 && ln -s /usr/lib/jvm/java-17-openjdk-*/bin/java /usr/local/bin/java && java -version
COPY build/cassandra /opt/cassandra/jars
COPY k8s/image/cassandra.options k8s/image/cassandra.sh /opt/cassandra/
RUN ln -s $(ls /opt/cassandra/jars/jamm-*.jar) /opt/cassandra/jamm.jar
USER 10001:10001
CMD ["sh", "/opt/cassandra/cassandra.sh"]
