import java.math.BigInteger;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.security.KeyFactory;
import java.security.PublicKey;
import java.security.Signature;
import java.security.spec.EdECPoint;
import java.security.spec.EdECPublicKeySpec;
import java.security.spec.NamedParameterSpec;
import java.time.Duration;
import java.util.Base64;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Verifies a JWS (standard input) by the JWK Set at args[0] with what the JDK has (JEP 339), and prints the payload. */
public class Verify {
  public static void main(String[] args) throws Exception {
    String token = new String(System.in.readAllBytes(), StandardCharsets.US_ASCII);
    HttpRequest get = HttpRequest.newBuilder(URI.create(args[0])).timeout(Duration.ofSeconds(5)).build();
    String keys = HttpClient.newHttpClient().send(get, HttpResponse.BodyHandlers.ofString()).body();
    String[] parts = token.split("\\.");
    String kid = memberOf(new String(Base64.getUrlDecoder().decode(parts[0]), StandardCharsets.UTF_8), "kid");
    for (String key : keys.split("\\{"))
      if (key.contains("\"kid\":\"" + kid + "\"")) {
        Signature signature = Signature.getInstance("Ed25519");
        signature.initVerify(keyOf(Base64.getUrlDecoder().decode(memberOf(key, "x"))));
        signature.update((parts[0] + "." + parts[1]).getBytes(StandardCharsets.US_ASCII));
        if (!signature.verify(Base64.getUrlDecoder().decode(parts[2]))) throw new Exception("wrong signature");
        System.out.println(new String(Base64.getUrlDecoder().decode(parts[1]), StandardCharsets.UTF_8));
        return;
      }
    throw new Exception("no key " + kid);
  }

  static String memberOf(String json, String name) throws Exception {
    Matcher found = Pattern.compile("\"" + name + "\":\"([^\"]*)\"").matcher(json);
    if (!found.find()) throw new Exception("no " + name);
    return found.group(1);
  }

  /** RFC 8032 §5.1.2: y little-endian, the highest bit says whether x is odd. */
  static PublicKey keyOf(byte[] x) throws Exception {
    boolean isOdd = x[31] < 0;
    x[31] &= 0x7f;
    byte[] y = new byte[32];
    for (int i = 0; i < 32; i++) y[i] = x[31 - i];
    EdECPoint point = new EdECPoint(isOdd, new BigInteger(1, y));
    return KeyFactory.getInstance("Ed25519").generatePublic(new EdECPublicKeySpec(NamedParameterSpec.ED25519, point));
  }
}
