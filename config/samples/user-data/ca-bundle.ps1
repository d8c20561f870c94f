# The node trusts the certificate authorities below, for image pulls and for its own connections: docs/how-to/registries.md.
$ErrorActionPreference = 'Stop'
# One block for each certificate.
$certificates = @(
  @'
-----BEGIN CERTIFICATE-----
MIIB...replace this certificate
-----END CERTIFICATE-----
'@
)
foreach ($certificate in $certificates) {
  $file = Join-Path $env:TEMP 'authority.cer'
  Set-Content -Path $file -Value $certificate -Encoding ASCII
  Import-Certificate -FilePath $file -CertStoreLocation Cert:\LocalMachine\Root | Out-Null
  Remove-Item -Path $file
}
