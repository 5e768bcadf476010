// Command loggers logs the same entries with one logger: loggers <logger> [<setting>]
package main

import (
	"errors"
	"flag"
	"fmt"
	"log"
	"log/slog"
	"net/http"
	"os"

	charm "github.com/charmbracelet/log"
	"github.com/gin-gonic/gin"
	kit "github.com/go-kit/log"
	"github.com/go-kit/log/level"
	"github.com/hashicorp/go-hclog"
	"github.com/rs/zerolog"
	zlog "github.com/rs/zerolog/log"
	"github.com/sirupsen/logrus"
	"go.uber.org/zap"
	"k8s.io/klog/v2"
)

const special = "Jörg said \"hi\"\tto 🎉"

var errDeclined = fmt.Errorf("charge: %w", errors.New("card declined"))

func main() {
	setting := ""
	if len(os.Args) > 2 {
		setting = os.Args[2]
	}
	switch os.Args[1] {
	case "log":
		log.Printf("order %s paid: %.2f", "A-1001", 42.5)
		log.Print("two\nlines")
		log.Print(special)
		if setting == "panic" {
			panic(errDeclined)
		}
		log.Fatal(errDeclined)
	case "slog":
		slogged(setting)
	case "zap":
		zapped(setting)
	case "zerolog":
		zerologged(setting)
	case "logrus":
		logrused(setting)
	case "klog":
		klogged()
	case "hclog":
		hclogged(setting)
	case "go-kit":
		kitted(setting)
	case "charm":
		charmed(setting)
	case "gin":
		ginned()
	}
}

func slogged(setting string) {
	options := &slog.HandlerOptions{Level: slog.LevelDebug - 4}
	switch setting {
	case "text":
		slog.SetDefault(slog.New(slog.NewTextHandler(os.Stdout, options)))
	case "json":
		slog.SetDefault(slog.New(slog.NewJSONHandler(os.Stdout, options)))
	}
	slog.Log(nil, slog.LevelDebug-4, "cache asked")
	slog.Debug("cache miss")
	slog.Info("order paid", "order", "A-1001", "amount", 42.5)
	slog.Warn("disk almost full", slog.Group("disk", "path", "/data", "used", 91))
	slog.Error("charge failed", "err", errDeclined)
	slog.Log(nil, slog.LevelError+2, "out of memory")
	slog.Info(special, "who", special)
}

func zapped(setting string) {
	logger, _ := zap.NewProduction()
	if setting == "development" {
		logger, _ = zap.NewDevelopment()
	}
	logger = logger.Named("shop")
	logger.Debug("cache miss")
	logger.Info("order paid", zap.String("order", "A-1001"), zap.Float64("amount", 42.5))
	logger.Warn("disk almost full", zap.Int("used", 91))
	logger.Error("charge failed", zap.Error(errDeclined))
	logger.DPanic("must not be")
	logger.Info(special)
	logger.Fatal("out of memory")
}

func zerologged(setting string) {
	if setting == "console" {
		zlog.Logger = zlog.Output(zerolog.ConsoleWriter{Out: os.Stdout})
	}
	if setting == "unix" {
		zerolog.TimeFieldFormat = zerolog.TimeFormatUnix
	}
	zlog.Trace().Msg("cache asked")
	zlog.Debug().Msg("cache miss")
	zlog.Info().Str("order", "A-1001").Float64("amount", 42.5).Msg("order paid")
	zlog.Warn().Int("used", 91).Msg("disk almost full")
	zlog.Error().Err(errDeclined).Msg("charge failed")
	zlog.Info().Str("order", "A-1001").Send()
	zlog.Info().Msg(special)
	zlog.Fatal().Msg("out of memory")
}

func logrused(setting string) {
	logrus.SetLevel(logrus.TraceLevel)
	if setting == "json" {
		logrus.SetFormatter(&logrus.JSONFormatter{})
	}
	if setting == "colors" {
		logrus.SetFormatter(&logrus.TextFormatter{ForceColors: true})
	}
	logrus.Trace("cache asked")
	logrus.Debug("cache miss")
	logrus.WithFields(logrus.Fields{"order": "A-1001", "amount": 42.5}).Info("order paid")
	logrus.WithField("used", 91).Warn("disk almost full")
	logrus.WithError(errDeclined).Error("charge failed")
	logrus.Info(special)
	logrus.Fatal("out of memory")
}

func klogged() {
	flags := flag.NewFlagSet("klog", flag.ExitOnError)
	klog.InitFlags(flags)
	_ = flags.Parse([]string{"-v=4"})
	klog.Infof("order %s paid", "A-1001")
	klog.InfoS("order paid", "order", "A-1001", "amount", 42.5)
	klog.V(4).Info("cache miss")
	klog.Warning("disk is 91% full")
	klog.ErrorS(errDeclined, "charge failed", "order", "A-1001")
	klog.Error(errDeclined)
	klog.InfoS("two lines", "text", "first\nsecond")
	klog.Info(special)
	klog.Flush()
}

func hclogged(setting string) {
	logger := hclog.New(&hclog.LoggerOptions{Name: "shop", Level: hclog.Trace, Output: os.Stdout, JSONFormat: setting == "json"})
	logger.Trace("cache asked")
	logger.Debug("cache miss")
	logger.Named("orders").Info("order paid", "order", "A-1001", "amount", 42.5)
	logger.Warn("disk almost full", "used", 91)
	logger.Error("charge failed", "error", errDeclined)
	logger.Info(special, "text", "first\nsecond")
}

func kitted(setting string) {
	logger := kit.NewLogfmtLogger(os.Stderr)
	if setting == "json" {
		logger = kit.NewJSONLogger(os.Stderr)
	}
	logger = kit.With(logger, "ts", kit.DefaultTimestampUTC, "caller", kit.DefaultCaller)
	_ = level.Debug(logger).Log("msg", "cache miss")
	_ = level.Info(logger).Log("msg", "order paid", "order", "A-1001", "amount", 42.5)
	_ = level.Warn(logger).Log("msg", "disk almost full", "used", 91)
	_ = level.Error(logger).Log("msg", "charge failed", "err", errDeclined)
	_ = level.Info(logger).Log("msg", special)
}

func charmed(setting string) {
	logger := charm.NewWithOptions(os.Stderr, charm.Options{ReportTimestamp: true, Level: charm.DebugLevel, Prefix: "shop"})
	if setting == "json" {
		logger.SetFormatter(charm.JSONFormatter)
	}
	logger.Debug("cache miss")
	logger.Info("order paid", "order", "A-1001", "amount", 42.5)
	logger.Warn("disk almost full", "used", 91)
	logger.Error("charge failed", "err", errDeclined)
	logger.Info(special, "text", "first\nsecond")
}

func ginned() {
	router := gin.Default()
	router.GET("/", func(c *gin.Context) { c.String(http.StatusOK, "ok\n") })
	router.GET("/fail", func(*gin.Context) { panic(errDeclined) })
	_ = router.Run("127.0.0.1:8099")
}
