-- How grave an entry is, in one of six words, as its line has it: {word}, what its logger calls it, in small letters; {priority}, that of
-- syslog and journald; {number}, that of OpenTelemetry; or the status of a request, {status}. NULL when none of them says.
-- Words stand in lists, as the engine makes a join of an IN with so many, which takes memory and a quarter of the time more.
coalesce(
  case
    when {word} is null then null
    when list_contains(['info', 'information', 'informational', 'notice', 'log', 'http', 'inf', 'statement'], {word}) then 'info'
    when list_contains(['error', 'err', 'severe'], {word}) then 'error'
    when list_contains(['warn', 'warning', 'wrn'], {word}) then 'warn'
    when list_contains(['debug', 'dbg', 'fine', 'debug1', 'debug2', 'debug3', 'debug4', 'debug5'], {word}) then 'debug'
    when list_contains(['fatal', 'critical', 'crit', 'panic', 'dpanic', 'alert', 'emerg', 'emergency'], {word}) then 'fatal'
    when list_contains(['trace', 'trc', 'verbose', 'silly', 'finer', 'finest'], {word}) then 'trace'
    -- The levels of pino and bunyan, whose own may lie between; below ten as syslog has them.
    when regexp_full_match({word}, '[1-9]\d')
      then ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'fatal', 'fatal', 'fatal'][{word}::utinyint // 10]
    when regexp_full_match({word}, '[0-7]')
      then ['fatal', 'fatal', 'fatal', 'error', 'warn', 'info', 'info', 'debug'][{word}::utinyint + 1]
  end,
  case
    when {priority} is null then null
    when regexp_full_match({priority}, '[0-7]')
      then ['fatal', 'fatal', 'fatal', 'error', 'warn', 'info', 'info', 'debug'][{priority}::utinyint + 1]
  end,
  case
    when {number} is null then null
    when regexp_full_match({number}, '[1-9]|1\d|2[0-4]')
      then ['trace', 'debug', 'info', 'warn', 'error', 'fatal'][({number}::utinyint + 3) // 4]
  end,
  case when {status} >= 500 then 'error' when {status} >= 400 then 'warn' when {status} >= 100 then 'info' end
)
