-- The newest filters. A checkpoint writes a table of so few rows anew whenever a row was added, so new ones are gathered here, and join
-- text_filters some at a time (decision 0020).
create table recent_text_filters (
  source varchar not null,
  block bigint not null,
  s0 blob not null using compression uncompressed,
  s1 blob not null using compression uncompressed,
  s2 blob not null using compression uncompressed,
  s3 blob not null using compression uncompressed,
  s4 blob not null using compression uncompressed,
  s5 blob not null using compression uncompressed,
  s6 blob not null using compression uncompressed,
  s7 blob not null using compression uncompressed,
  s8 blob not null using compression uncompressed,
  s9 blob not null using compression uncompressed,
  s10 blob not null using compression uncompressed,
  s11 blob not null using compression uncompressed,
  s12 blob not null using compression uncompressed,
  s13 blob not null using compression uncompressed,
  s14 blob not null using compression uncompressed,
  s15 blob not null using compression uncompressed,
  unescaped boolean
);
