# The operator and the programs that run in pods, in one image: Node, git, certificates, the libraries of both, and our
# programs as plain JavaScript; no shell, no package manager. The files are put together by the same tool that builds the
# image without a container tool (tools/image.ts), the same way on every architecture.
ARG NODE=24.21.0

FROM node:${NODE}-trixie-slim AS build
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates git \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /checkout
COPY package.json package-lock.json .npmrc ./
RUN npm ci --no-audit --no-fund
COPY src ./src
COPY tools ./tools
RUN node tools/image.ts --files=/image

FROM scratch
COPY --from=build /image /
ENV PATH=/usr/local/bin:/usr/bin NODE_ENV=production
WORKDIR /
USER 65532:65532
# The first argument names the program. Whole paths: a pod may set PATH and the working directory.
ENTRYPOINT ["/usr/local/bin/node", "/baton/main.mjs"]
CMD ["operator"]
