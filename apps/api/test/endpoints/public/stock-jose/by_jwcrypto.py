"""Verifies a JWS (standard input) by the JWK Set at argv[1] with jwcrypto; prints the payload."""
import sys
import urllib.request

from jwcrypto import jwk, jws

keys = jwk.JWKSet.from_json(urllib.request.urlopen(sys.argv[1], timeout=5).read().decode())
token = jws.JWS()
token.deserialize(sys.stdin.read())
token.verify(keys.get_key(token.jose_header["kid"]), alg="EdDSA")
print(token.payload.decode())
