# The operator and the programs that run in pods, in one image: Node, its libraries and the sources, and nothing else; no
# shell, no package manager. Every step is the same on every architecture that the base image has.
ARG NODE=24.21.0

FROM node:${NODE}-trixie-slim AS build
WORKDIR /baton
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund
COPY src ./src
RUN find src -name '*.test.ts' -delete
# Node and what it links to, at the same places.
RUN set -eu; mkdir -p /root-of-image/usr/local/bin /root-of-image/etc/ssl /root-of-image/tmp; \
    cp /usr/local/bin/node /root-of-image/usr/local/bin/; \
    ldd /usr/local/bin/node | grep -o '/[^ ]*' | while read -r library; do cp --parents -L "$library" /root-of-image; done; \
    echo 'nonroot:x:65532:65532::/:/sbin/nologin' > /root-of-image/etc/passwd; \
    echo 'nonroot:x:65532:' > /root-of-image/etc/group; \
    chmod 1777 /root-of-image/tmp; \
    cp -r /baton /root-of-image/baton

FROM scratch
COPY --from=build /root-of-image /
WORKDIR /baton
ENV NODE_ENV=production PATH=/usr/local/bin
USER 65532:65532
# The first argument names the program. Whole paths: a pod may set PATH and the working directory.
ENTRYPOINT ["/usr/local/bin/node", "/baton/src/main.ts"]
CMD ["operator"]
