-- The number of API requests of one project that are stored.
--! uuid: 3f7c1b64-90de-4a2b-b0a5-6c4be0d7f1a2
--! max_rows: 1
--! caching: 300
--! warming: off
--! sandboxing: off
--! redact_pii: off
--! parameter: project string required, the project's reference; only its entries are counted; * is all
select count(*) as count
from main.edge_logs
where @any_project::boolean or project = @project::varchar
