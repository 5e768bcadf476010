# Node 24: 20, the oldest that package.json allows, has had no security fixes since April 2026.
FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
# No package needs its install script.
RUN npm ci --ignore-scripts
COPY tsconfig.json build.cjs ./
COPY server ./server
COPY ingest ./ingest
# data is empty: it gives the volume its owner.
RUN npm run build && npm prune --omit=dev && mkdir data

FROM node:24-bookworm-slim
WORKDIR /app
ENV NODE_ENV=production UV_THREADPOOL_SIZE=16 TAILPOND_HOST=0.0.0.0 TAILPOND_DATA=/data
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY package.json ./
COPY server/launch.cjs ./server/
COPY sql ./sql
RUN ln -s launch.cjs server/tailpond
ENV PATH=/app/server:$PATH
COPY --from=build --chown=node:node /app/data /data
USER node
VOLUME /data
EXPOSE 4000
HEALTHCHECK --interval=10s --timeout=6s --start-period=60s \
  CMD ["tailpond", "--healthcheck"]
ENTRYPOINT ["tailpond"]
