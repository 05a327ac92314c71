"""Verifies a JWS (standard input) by the JWK Set at argv[1] with PyJWT; prints the payload."""
import sys

import jwt

token = sys.stdin.read()
key = jwt.PyJWKClient(sys.argv[1]).get_signing_key_from_jwt(token).key
print(jwt.api_jws.decode(token, key, algorithms=["EdDSA"]).decode())
