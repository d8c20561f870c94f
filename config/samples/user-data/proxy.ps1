# containerd pulls images through a proxy: docs/how-to/registries.md. The kubelet and kube-proxy do not use it.
$ErrorActionPreference = 'Stop'
$proxy = 'http://proxy.corp.example.com:3128'
# Instance metadata, the VPC, the Services of the cluster, and AWS endpoints in the VPC.
$direct = '169.254.169.254,10.0.0.0/16,172.20.0.0/16,.compute.internal,.dkr.ecr.eu-central-1.amazonaws.com'
$key = 'HKLM:\SYSTEM\CurrentControlSet\Services\containerd'
$values = @("HTTP_PROXY=$proxy", "HTTPS_PROXY=$proxy", "NO_PROXY=$direct")
New-ItemProperty -Path $key -Name Environment -PropertyType MultiString -Value $values -Force | Out-Null
Restart-Service -Name containerd -Force
