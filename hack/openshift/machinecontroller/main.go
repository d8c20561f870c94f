// Command machinecontroller runs the machine controller of OpenShift, which also drains, with a double of a cloud: each instance exists as soon as it is
// created, until it is deleted. The double fails to create an instance whose providerSpec has `error`.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"sync"

	apifeatures "github.com/openshift/api/features"
	machinev1 "github.com/openshift/api/machine/v1beta1"
	"github.com/openshift/library-go/pkg/features"
	"github.com/openshift/machine-api-operator/pkg/controller/machine"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/util/feature"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

func main() {
	klog.InitFlags(nil)
	namespace := flag.String("namespace", "openshift-machine-api", "namespace of the Machines")
	health := flag.String("health-addr", "", "address of /healthz")
	gates := feature.DefaultMutableFeatureGate
	options, err := features.NewFeatureGateOptions(gates, apifeatures.SelfManaged, apifeatures.FeatureGateMachineAPIMigration)
	check(err)
	options.AddFlagsToGoFlagSet(nil)
	flag.Parse()
	_, err = options.ApplyTo(gates)
	check(err)

	ctrl.SetLogger(klog.NewKlogr())
	manager, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{
		Metrics:                server.Options{BindAddress: "0"},
		HealthProbeBindAddress: *health,
		Cache:                  cache.Options{DefaultNamespaces: map[string]cache.Config{*namespace: {}}},
	})
	check(err)
	check(machinev1.Install(manager.GetScheme()))
	check(machine.AddWithActuator(manager, &cloud{client: manager.GetClient()}, gates))
	check(manager.AddHealthzCheck("ping", healthz.Ping))
	check(manager.Start(ctrl.SetupSignalHandler()))
}

func check(err error) {
	if err != nil {
		klog.Fatal(err)
	}
}

// cloud is the double. A Machine has its instance once it has the provider ID, which survives a restart.
type cloud struct {
	client     client.Client
	terminated sync.Map // UIDs of Machines
}

// instance returns a provider ID and an internal address that belong to this Machine alone.
func instance(uid types.UID) (string, string) {
	digest := sha256.Sum256([]byte(uid))
	id := hex.EncodeToString(digest[:5])
	return "vsphere://win-" + id, fmt.Sprintf("10.%d.%d.%d", digest[2], digest[3], digest[4])
}

func (c *cloud) Create(ctx context.Context, m *machinev1.Machine) error {
	var spec struct{ Error string }
	if value := m.Spec.ProviderSpec.Value; value != nil {
		if err := json.Unmarshal(value.Raw, &spec); err != nil {
			return machine.InvalidMachineConfiguration("providerSpec: %v", err)
		}
	}
	if spec.Error != "" {
		return machine.InvalidMachineConfiguration("%s", spec.Error)
	}
	id, address := instance(m.UID)
	before := m.DeepCopy()
	m.Spec.ProviderID = &id
	if err := c.client.Patch(ctx, m, client.MergeFrom(before)); err != nil {
		return err
	}
	before = m.DeepCopy()
	m.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: address}}
	return c.client.Status().Patch(ctx, m, client.MergeFrom(before))
}

func (c *cloud) Update(context.Context, *machinev1.Machine) error { return nil }

func (c *cloud) Exists(_ context.Context, m *machinev1.Machine) (bool, error) {
	_, terminated := c.terminated.Load(m.UID)
	return m.Spec.ProviderID != nil && !terminated, nil
}

func (c *cloud) Delete(_ context.Context, m *machinev1.Machine) error {
	c.terminated.Store(m.UID, true)
	return nil
}
