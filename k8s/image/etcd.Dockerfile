# etcd for development, of Debian's package. Production takes the image that etcd's own project publishes.
# Built from the root of the project:  docker build -f k8s/image/etcd.Dockerfile -t submind-etcd:TAG .

FROM python:3.11-slim
RUN apt-get update && apt-get install -y --no-install-recommends etcd-server \
 && rm -rf /var/lib/apt/lists/* /var/cache/* /var/log/*
USER 10001:10001
CMD ["etcd"]
