# The service as an image. `--target with-apertium` adds the engine of TRANSLATOR=apertium.
# Debian 13 has OpenSSL 3.5, which exchanges post-quantum keys. The engine's languages are all in Debian 12 only.
# What is built on the older of the two runs on both.
FROM python:3.13-slim-bookworm AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore
WORKDIR /build
RUN python -m venv --without-pip /opt/monitoring
# constraints-otel.txt installs what sends traces as well: docs/traces.md; constraints-mcp.txt `monitoring mcp`
ARG CONSTRAINTS=constraints.txt
COPY constraints.txt constraints-otel.txt constraints-mcp.txt ./
RUN pip --python /opt/monitoring/bin/python install --require-hashes --only-binary=:all: -r "$CONSTRAINTS"
COPY pyproject.toml README.md LICENSE arazzo.yaml openapi.yaml ./
COPY docs/guides docs/guides
COPY src src
RUN pip --python /opt/monitoring/bin/python install --no-deps .

FROM python:3.13-slim-bookworm AS with-apertium
RUN groupadd --gid 10001 monitoring \
    && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /data --shell /usr/sbin/nologin monitoring \
    && install --directory --owner=10001 --group=10001 /data
COPY .ci/apertium-packages.txt /tmp/
# hadolint ignore=DL3008
RUN apt-get update \
    && xargs --arg-file=/tmp/apertium-packages.txt apt-get install --yes --no-install-recommends \
    && rm -rf /tmp/apertium-packages.txt /var/lib/apt/lists/*
COPY --from=build /opt/monitoring /opt/monitoring
ENV PATH=/opt/monitoring/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    HOST=0.0.0.0 \
    DATA_DIR=/data
WORKDIR /data
VOLUME /data
USER 10001:10001
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s CMD \
    ["python", "-c", "import os, urllib.request; urllib.request.urlopen('http://127.0.0.1:' + os.environ.get('PORT', '8000') + '/health', timeout=2)"]
ENTRYPOINT ["monitoring"]
CMD ["serve"]

# Last, so that a build without a target makes the small image.
FROM python:3.13-slim-trixie AS service
RUN groupadd --gid 10001 monitoring \
    && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /data --shell /usr/sbin/nologin monitoring \
    && install --directory --owner=10001 --group=10001 /data
COPY --from=build /opt/monitoring /opt/monitoring
COPY deploy/openssl.cnf /opt/monitoring/
ENV PATH=/opt/monitoring/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    OPENSSL_CONF=/opt/monitoring/openssl.cnf \
    HOST=0.0.0.0 \
    DATA_DIR=/data
WORKDIR /data
VOLUME /data
USER 10001:10001
EXPOSE 8000
STOPSIGNAL SIGTERM
# For `serve`; the worker answers on METRICS_PORT instead, see compose.yaml.
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s CMD \
    ["python", "-c", "import os, urllib.request; urllib.request.urlopen('http://127.0.0.1:' + os.environ.get('PORT', '8000') + '/health', timeout=2)"]
ENTRYPOINT ["monitoring"]
CMD ["serve"]
