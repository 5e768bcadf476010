-- A URL is `url_base`, which few differ in, followed by `url_query`, from its first question mark on. Rows of before have all of it in
-- `url_base` (decision 0034).
alter table edge_logs rename column url to url_base;
alter table edge_logs add column url_query varchar;
