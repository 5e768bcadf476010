-- True where a filter has the strings of the metadata as they are read, too, beside the JSON as it is written (decision 0020).
alter table text_filters add column unescaped boolean;
