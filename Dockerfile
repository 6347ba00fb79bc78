# syntax=docker/dockerfile:1
# One image for every part of a fleet; the command says which part a container is.
#   docker build -t seine:VERSION .                           workers, dashboard, migrate, seed
#   docker build -t seine-browser:VERSION --target browser .  workers that render pages, too
ARG PYTHON_IMAGE=python:3.11-slim-bookworm

# --- what every target stands on --------------------------------------------------------------
FROM ${PYTHON_IMAGE} AS base
# tini hands signals on and reaps what a browser leaves behind: a program that is process 1 itself
# ignores SIGTERM until it has set a handler, so a pod stopped while it starts would hang.
# Its version is the distribution's: Debian removes old ones, and a pinned one breaks builds.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends tini \
    && rm -rf /var/lib/apt/lists/* \
    && groupadd --gid 10001 seine \
    && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /tmp --shell /usr/sbin/nologin seine
# /app comes first on the path: `settings` and `pipelines` are names that other packages use, too.
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONPATH=/app \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    HOME=/tmp \
    SCRAPY_SETTINGS_MODULE=settings.cluster \
    SEINE_METRICS_HOST=0.0.0.0 \
    SEINE_METRICS_PORT=9809
WORKDIR /app

# --- packages, then the project: a change of code rebuilds the last step only --------------------
FROM ${PYTHON_IMAGE} AS packages
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore
WORKDIR /build
COPY .ci/locks ./locks
# What the library and the catalogue crawler need, with S3 and Parquet for the archive and exports,
# each file by its hash (.ci/lock). The embedded servers of laptop mode are left out: a fleet has its
# own. Nothing is compiled; `typing`, which scrapy-rotating-proxies names, has no wheel and is one
# Python file.
RUN python -m venv --without-pip /opt/venv \
    && pip --python /opt/venv/bin/python install --only-binary :all: --no-binary typing --require-hashes --requirement locks/image.txt

FROM packages AS browser-packages
RUN pip --python /opt/venv/bin/python install --only-binary :all: --no-binary typing --require-hashes --requirement locks/browser.txt

FROM packages AS project
COPY pyproject.toml setup.py README.m[d] LICENSE scrapy.cfg ./
COPY scrapy_seine ./scrapy_seine
COPY crawler ./crawler
COPY spiders ./spiders
COPY pipelines ./pipelines
COPY middlewares ./middlewares
COPY settings ./settings
# The library as its wheel has it, version included; the crawler is no part of the wheel. The image's
# user must read what a checkout under umask 077 lets its owner alone read.
RUN pip --python /opt/venv/bin/python install --no-deps --no-build-isolation --target /app . \
    && cp -r crawler spiders pipelines middlewares settings scrapy.cfg /app/ \
    && chmod -R a+rX /app \
    && python -m compileall -q /app

# --- a worker with a browser ------------------------------------------------------------------
FROM base AS browser
# libatomic1 is for Playwright's own Node, without which no page is rendered.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends chromium firefox-esr fonts-liberation libatomic1 \
    && rm -rf /var/lib/apt/lists/*
COPY --from=browser-packages /opt/venv /opt/venv
COPY --from=project /app /app
ENV SEINE_BROWSER=1
LABEL org.opencontainers.image.title="seine-browser" \
      org.opencontainers.image.description="A worker of Seine with Chromium and Firefox" \
      org.opencontainers.image.licenses="MIT"
USER 10001:10001
EXPOSE 9809
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s --retries=4 \
    CMD ["python", "-c", "import os, urllib.request as u; u.urlopen('http://127.0.0.1:' + os.environ['SEINE_METRICS_PORT'] + '/healthz', timeout=4)"]
ENTRYPOINT ["/usr/bin/tini", "--"]
CMD ["scrapy", "crawl", "catalog"]

# --- everything else; last, so that it is what a build without --target makes --------------------
FROM base AS worker
COPY --from=packages /opt/venv /opt/venv
COPY --from=project /app /app
LABEL org.opencontainers.image.title="seine" \
      org.opencontainers.image.description="Workers, dashboard and commands of Seine" \
      org.opencontainers.image.licenses="MIT"
USER 10001:10001
EXPOSE 9809 8800 9808
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s --retries=4 \
    CMD ["python", "-c", "import os, urllib.request as u; u.urlopen('http://127.0.0.1:' + os.environ['SEINE_METRICS_PORT'] + '/healthz', timeout=4)"]
ENTRYPOINT ["/usr/bin/tini", "--"]
CMD ["scrapy", "crawl", "catalog"]
