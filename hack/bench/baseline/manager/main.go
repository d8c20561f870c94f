// Command manager is controller-runtime's side of the benchmark coldSync: a manager with its defaults, whose controller watches the same Nodes and does
// nothing. It keeps whole objects, as a controller does unless its author adds a transform. It prints one JSON line when its cache has synced.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"winpool.dev/bench/baseline/usage"
)

func main() {
	// controller-runtime registers a flag of the same name with the global set.
	flags := flag.NewFlagSet("manager", flag.ExitOnError)
	kubeconfig := flags.String("kubeconfig", "", "path of a kubeconfig")
	selector := flags.String("selector", "", "label selector of the nodes")
	started := flags.Float64("started", 0, "when the process was started, in epoch milliseconds")
	_ = flags.Parse(os.Args[1:]) // Exits on errors.
	ctrl.SetLogger(logr.Discard())
	if err := run(*kubeconfig, *selector, *started); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(kubeconfig, selector string, started float64) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	manager, err := start(ctx, kubeconfig, selector)
	if err != nil {
		return err
	}
	informer, err := manager.GetCache().GetInformer(ctx, &corev1.Node{}, cache.BlockUntilSynced(false))
	if err != nil {
		return err
	}
	// Not WaitForCacheSync: it looks only every 100 ms.
	for !informer.HasSynced() {
		select {
		case <-ctx.Done():
			return fmt.Errorf("the cache has not synced within ten minutes")
		case <-time.After(time.Millisecond):
		}
	}
	synced, err := usage.SinceStart(started)
	if err != nil {
		return err
	}
	var nodes corev1.NodeList
	if err := manager.GetClient().List(ctx, &nodes); err != nil {
		return err
	}
	synced.Items = len(nodes.Items)
	return json.NewEncoder(os.Stdout).Encode(synced)
}

func start(ctx context.Context, kubeconfig, selector string) (ctrl.Manager, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	selected, err := labels.Parse(selector)
	if err != nil {
		return nil, err
	}
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Metrics: server.Options{BindAddress: "0"},
		Cache:   cache.Options{ByObject: map[client.Object]cache.ByObject{&corev1.Node{}: {Label: selected}}},
	})
	if err != nil {
		return nil, err
	}
	ignore := reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) { return reconcile.Result{}, nil })
	if err := ctrl.NewControllerManagedBy(manager).For(&corev1.Node{}).Complete(ignore); err != nil {
		return nil, err
	}
	go func() {
		if err := manager.Start(ctx); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}()
	return manager, nil
}
