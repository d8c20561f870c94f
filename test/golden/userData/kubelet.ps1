<powershell>
$parameters = @{
  EKSClusterName = 'prod'
  APIServerEndpoint = 'https://0A1B2C3D4E5F60718293A4B5C6D7E8F9.gr7.eu-central-1.eks.amazonaws.com'
  Base64ClusterCA = 'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg=='
  ServiceCIDR = '10.100.0.0/16'
  DNSClusterIP = '10.100.0.10'
  KubeletExtraArgs = '--eviction-hard=memory.available<500Mi,nodefs.available<10% --kube-reserved=memory=512Mi --max-pods=30 --node-labels=eks.amazonaws.com/nodegroup-image=ami-0123456789abcdef0,eks.amazonaws.com/nodegroup=web,team=,winpool.dev/pool=web --register-with-taints=os=windows:NoSchedule,startup-taint.cluster-autoscaler.kubernetes.io/winpool-gate=:NoSchedule --system-reserved=cpu=500m,memory=1536Mi'
}
& (Join-Path $env:ProgramFiles 'Amazon\EKS\Start-EKSBootstrap.ps1') @parameters 3>&1 4>&1 5>&1 6>&1
</powershell>
