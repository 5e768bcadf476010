-- Text filters are of words, and of parts of long ones (server/store/text-filter/words.ts, decision 0020). True where a filter is such; other ones
-- are of an earlier version, and tell nothing. Rows are settled again, which gives them new filters.
alter table text_filters add column words boolean;
alter table recent_text_filters add column words boolean;
update member_sets set generation = generation + 1;
