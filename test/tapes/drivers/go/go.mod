module tapes/drivers

go 1.26

require (
	github.com/DeRuina/timberjack v1.4.10
	github.com/lestrrat-go/file-rotatelogs v2.4.0+incompatible
	gopkg.in/natefinch/lumberjack.v2 v2.2.1
)
