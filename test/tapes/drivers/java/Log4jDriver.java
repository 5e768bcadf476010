import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;
import org.apache.logging.log4j.core.config.ConfigurationSource;
import org.apache.logging.log4j.core.config.Configurator;

/** Log4j's RollingFile by size, with DefaultRolloverStrategy and compressed files. */
public final class Log4jDriver {
    public static void main(String[] args) throws Exception {
        String configuration = "<Configuration><Appenders>"
                + "<RollingFile name='FILE' fileName='app.log' filePattern='app-%i.log.gz'><PatternLayout pattern='%m%n'/>"
                + "<Policies><SizeBasedTriggeringPolicy size='600'/></Policies><DefaultRolloverStrategy max='3'/></RollingFile>"
                + "</Appenders><Loggers><Root level='info'><AppenderRef ref='FILE'/></Root></Loggers></Configuration>";
        Configurator.initialize(null,
                new ConfigurationSource(new ByteArrayInputStream(configuration.getBytes(StandardCharsets.UTF_8))));
        Logger logger = LogManager.getLogger("app");
        Lines.write(48, 350, logger::info);
        LogManager.shutdown();
    }
}
