# containerd pulls images of docker.io from a mirror, if its configuration names the folder: docs/how-to/registries.md.
$ErrorActionPreference = 'Stop'
$folder = Join-Path $env:ProgramData 'containerd\certs.d\docker.io'
New-Item -ItemType Directory -Force -Path $folder | Out-Null
Set-Content -Path (Join-Path $folder 'hosts.toml') -Encoding ASCII -Value @'
server = "https://registry-1.docker.io"

[host."https://mirror.corp.example.com"]
  capabilities = ["pull", "resolve"]
'@
