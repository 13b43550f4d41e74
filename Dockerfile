# Crawlmill with its native core, as a command:
#
#     docker build -t crawlmill .
#     docker run --rm --user "$(id -u):$(id -g)" -v "$PWD:/data" crawlmill run tag_count crawl.paths
#
# More of it, such as the columnar index: docker build --build-arg EXTRAS=fast,columnar,structured -t crawlmill .
ARG DEBIAN=bookworm
ARG PYTHON=3.13

FROM rust:1-slim-${DEBIAN} AS build
RUN apt-get update \
    && apt-get install -y --no-install-recommends python3 python3-venv \
    && rm -rf /var/lib/apt/lists/* \
    && python3 -m venv /venv
WORKDIR /source
COPY native native
RUN /venv/bin/pip wheel --no-cache-dir --no-deps --wheel-dir /wheels ./native
COPY setup.cfg pyproject.toml README.md LICENSE mrjob.conf ./
COPY docs/crawlmill.1 docs/crawlmill.1
COPY lib lib
RUN /venv/bin/pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:${PYTHON}-slim-${DEBIAN}
ARG EXTRAS=fast
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    pip install --no-cache-dir "$(echo /wheels/crawlmill-*.whl)[${EXTRAS}]" /wheels/crawlmill_native-*.whl \
    && useradd --create-home --uid 1000 crawlmill
USER crawlmill
WORKDIR /data
ENTRYPOINT ["crawlmill"]
CMD ["--help"]
