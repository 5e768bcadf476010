-- usage.api-requests-count in ClickHouse: sql/endpoints/usage.api-requests-count.sql has the contract.
select count() as count
from {edge_logs:Identifier}
where ({any_project:Nullable(String)} = 'true' or project = {project:Nullable(String)})
