<powershell>
$ErrorActionPreference = 'Stop'
$before = [scriptblock]::Create([Text.Encoding]::UTF8.GetString([Convert]::FromBase64String('V3JpdGUtSG9zdCDigJhHcsO8w59l4oCZ')))
$ErrorActionPreference = 'Continue'
$parameters = @{
  EKSClusterName = 'prod'
  APIServerEndpoint = 'https://0A1B2C3D4E5F60718293A4B5C6D7E8F9.gr7.eu-central-1.eks.amazonaws.com'
  Base64ClusterCA = 'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg=='
  KubeletExtraArgs = '--node-labels=eks.amazonaws.com/nodegroup=web'
}
& $before
& (Join-Path $env:ProgramFiles 'Amazon\EKS\Start-EKSBootstrap.ps1') @parameters 3>&1 4>&1 5>&1 6>&1
</powershell>
