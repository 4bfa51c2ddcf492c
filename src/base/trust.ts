// Whom to trust over TLS, and which errors mean that there is no trust. OpenSSL passes over a text without a certificate
// in silence, so it is looked at here: whoever wrote it wanted somebody to be trusted.

import { X509Certificate } from 'node:crypto';
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';

/** A text that should hold certificates, and holds none or a broken one. */
export class NoCertificate extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'NoCertificate';
  }
}

const form = /-----BEGIN ([A-Z0-9 ]*CERTIFICATE)-----[^-]*-----END \1-----/g;

/** Trust in the usual authorities, and in those of the key `ca.crt`, in PEM. */
export function trusting(ca: string): SecureContext {
  const certificates = ca.match(form) ?? [];
  if (certificates.length === 0) throw new NoCertificate('ca.crt holds no certificate (PEM is expected)');
  for (const certificate of certificates) check(certificate);
  return createSecureContext({ ca: [...getCACertificates(), ...certificates] });
}

function check(certificate: string): void {
  try {
    void new X509Certificate(certificate);
  } catch (cause) {
    throw new NoCertificate('ca.crt holds a certificate that cannot be read', cause);
  }
}

/** Whether the code of an error means a certificate that is not trusted, for another host or out of date, or no TLS. */
export const isTlsFault = (code: string): boolean =>
  /^(?:ERR_TLS_|ERR_SSL_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|EPROTO$|HOSTNAME_MISMATCH$|INVALID_CA$|INVALID_PURPOSE$)/.test(
    code,
  );
