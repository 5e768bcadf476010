// Go loggers with rotation: drivers lumberjack | lumberjack-compress | timberjack | file-rotatelogs
package main

import (
	"fmt"
	"io"
	"log"
	"os"
	"strings"
	"time"

	"github.com/DeRuina/timberjack"
	rotatelogs "github.com/lestrrat-go/file-rotatelogs"
	"gopkg.in/natefinch/lumberjack.v2"
)

// line returns line n as JSON, with a pad of this many characters. The recorder gives the tape's name in NAME.
func line(n, pad int) string {
	timestamp := time.Date(2026, 11, 20, 10, 0, n, 0, time.UTC).Format("2006-01-02T15:04:05.000Z")
	text := fmt.Sprintf(`{"id":"%s-%d","timestamp":"%s","project":"p"`, os.Getenv("NAME"), n, timestamp)
	if pad > 0 {
		text += fmt.Sprintf(`,"pad":"%s"`, strings.Repeat("x", pad))
	}
	return text + "}"
}

// writeLines writes lines with short pauses, and a longer one after every block.
func writeLines(w io.Writer, count, pad, block int, rest time.Duration) {
	logger := log.New(w, "", 0)
	for n := range count {
		logger.Print(line(n, pad))
		if n%block == block-1 {
			time.Sleep(rest)
		} else {
			time.Sleep(15 * time.Millisecond)
		}
	}
}

func main() {
	const rest = 400 * time.Millisecond
	switch os.Args[1] {
	case "lumberjack":
		w := &lumberjack.Logger{Filename: "app.log", MaxSize: 1, MaxBackups: 3}
		defer w.Close()
		writeLines(w, 26, 200_000, 3, rest)
	case "lumberjack-compress":
		w := &lumberjack.Logger{Filename: "app.log", MaxSize: 1, MaxBackups: 3, Compress: true}
		defer w.Close()
		writeLines(w, 26, 200_000, 3, rest)
	case "timberjack":
		w := &timberjack.Logger{Filename: "app.log", MaxSize: 1, MaxBackups: 3, Compression: "gzip"}
		defer w.Close()
		writeLines(w, 26, 200_000, 3, rest)
	case "file-rotatelogs":
		w, err := rotatelogs.New("app.log.%Y%m%d%H%M%S",
			rotatelogs.WithLinkName("app.log"),
			rotatelogs.WithRotationTime(time.Second),
			rotatelogs.WithRotationCount(3))
		if err != nil {
			log.Fatal(err)
		}
		defer w.Close()
		writeLines(w, 36, 0, 6, 1100*time.Millisecond)
	default:
		log.Fatalf("unknown program %s", os.Args[1])
	}
	time.Sleep(2 * time.Second) // the libraries compress in the background
}
