import { generate } from 'selfsigned';

const HOSTS = [
  { type: 2, value: 'localhost' },
  { type: 7, ip: '127.0.0.1' },
  { type: 7, ip: '::1' },
] as const;

/** A certificate with its key, in PEM. */
export type Certificate = { readonly cert: string; readonly private: string };

/** Makes a certificate for the loopback interface that only its holder vouches for, good for a year. */
export function makeCertificate(): Promise<Certificate> {
  return generate([{ name: 'commonName', value: 'localhost' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'subjectAltName', altNames: [...HOSTS] },
    ],
  });
}
