import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.joran.JoranConfigurator;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Logback's RollingFileAppender: "time" with size and time, "fixed" with a fixed window; both compress. */
public final class LogbackDriver {
    private static final String TIME =
            "<rollingPolicy class='ch.qos.logback.core.rolling.SizeAndTimeBasedRollingPolicy'>"
                    + "<fileNamePattern>app-%d{yyyy-MM-dd-HH-mm-ss}.%i.log.gz</fileNamePattern>"
                    + "<maxFileSize>600</maxFileSize><maxHistory>3</maxHistory></rollingPolicy>";
    private static final String FIXED =
            "<rollingPolicy class='ch.qos.logback.core.rolling.FixedWindowRollingPolicy'>"
                    + "<fileNamePattern>app.%i.log.gz</fileNamePattern><minIndex>1</minIndex><maxIndex>3</maxIndex></rollingPolicy>"
                    + "<triggeringPolicy class='ch.qos.logback.core.rolling.SizeBasedTriggeringPolicy'>"
                    + "<maxFileSize>500</maxFileSize><checkIncrement>0</checkIncrement></triggeringPolicy>";

    public static void main(String[] args) throws Exception {
        boolean byTime = args[0].equals("time");
        String configuration = "<configuration><appender name='FILE' class='ch.qos.logback.core.rolling.RollingFileAppender'>"
                + "<file>app.log</file>" + (byTime ? TIME : FIXED)
                + "<encoder><pattern>%m%n</pattern></encoder></appender>"
                + "<root level='INFO'><appender-ref ref='FILE'/></root></configuration>";
        LoggerContext context = (LoggerContext) LoggerFactory.getILoggerFactory();
        context.reset();
        JoranConfigurator configurator = new JoranConfigurator();
        configurator.setContext(context);
        configurator.doConfigure(new ByteArrayInputStream(configuration.getBytes(StandardCharsets.UTF_8)));
        Logger logger = LoggerFactory.getLogger("app");
        Lines.write(36, byTime ? 1100 : 350, logger::info);
        Thread.sleep(500);
        context.stop();
    }
}
