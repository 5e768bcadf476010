import java.time.Instant;
import java.util.function.Consumer;

/** The lines that every driver writes. The recorder gives the tape's name in NAME. */
final class Lines {
    private Lines() {}

    /** Returns line {@code n} as JSON. */
    static String line(int n) {
        String timestamp = Instant.parse("2026-11-20T10:00:00Z").plusSeconds(n).toString().replace("Z", ".000Z");
        return "{\"id\":\"" + System.getenv("NAME") + "-" + n + "\",\"timestamp\":\"" + timestamp + "\",\"project\":\"p\"}";
    }

    /** Writes lines with short pauses, and one of {@code rest} ms after every sixth. */
    static void write(int count, int rest, Consumer<String> write) throws InterruptedException {
        for (int n = 0; n < count; n++) {
            write.accept(line(n));
            Thread.sleep(n % 6 == 5 ? rest : 15);
        }
    }
}
