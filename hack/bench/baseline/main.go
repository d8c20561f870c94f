// Command baseline is client-go's side of the benchmarks coldSync and noise: a shared informer on Nodes that keeps the same fields as the
// operator's store, with Go's default garbage collector settings. It prints one JSON line when the informer has synced. With -follow, it
// then goes on until its standard input ends, and prints a line with the number of objects so far for each line that it reads.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"

	"winpool.dev/bench/baseline/usage"
)

func main() {
	kubeconfig := flag.String("kubeconfig", "", "path of a kubeconfig")
	selector := flag.String("selector", "", "label selector of the nodes")
	flag.BoolVar(&keepImages, "images", false, "keep the names of images")
	follow := flag.Bool("follow", false, "go on after the sync")
	started := flag.Float64("started", 0, "when the process was started, in epoch milliseconds")
	file := flag.String("dump", "", "file for the store's content, one record a line")
	flag.Parse()
	if err := run(*kubeconfig, *selector, *started, *file, *follow); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(kubeconfig, selector string, started float64, file string, follow bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	client, err := connect(kubeconfig)
	if err != nil {
		return err
	}
	informer := cache.NewSharedIndexInformer(nodes(client, selector), &corev1.Node{}, 0, cache.Indexers{"nodeGroup": byNodeGroup})
	if err := informer.SetTransform(trim); err != nil {
		return err
	}
	go informer.RunWithContext(ctx)
	// Not WaitForCacheSync: it looks only every 100 ms.
	if !cache.WaitFor(ctx, "", informer.HasSyncedChecker()) {
		return fmt.Errorf("the informer has not synced within ten minutes")
	}
	synced, err := usage.SinceStart(started)
	if err != nil {
		return err
	}
	items := informer.GetStore().List()
	synced.Items = len(items)
	if err := json.NewEncoder(os.Stdout).Encode(synced); err != nil {
		return err
	}
	if follow {
		for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
			fmt.Println(received.Load())
		}
	}
	if file == "" {
		return nil
	}
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	defer out.Close()
	return dump(out, items)
}

// connect leaves the wire format to client-go, whose generated clients speak protobuf for built-in types (gentype.PrefersProtobuf).
func connect(kubeconfig string) (*kubernetes.Clientset, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	return kubernetes.NewForConfig(config)
}

// nodes lists and watches as client-go's generated informers do: the client behind it decides whether a watch list is possible.
func nodes(client *kubernetes.Clientset, selector string) cache.ListerWatcher {
	return cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			options.LabelSelector = selector
			return client.CoreV1().Nodes().List(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			options.LabelSelector = selector
			return client.CoreV1().Nodes().Watch(ctx, options)
		},
	}, client)
}

func byNodeGroup(object any) ([]string, error) {
	if node, ok := object.(*corev1.Node); ok {
		if group, found := node.Labels["eks.amazonaws.com/nodegroup"]; found {
			return []string{group}, nil
		}
	}
	return nil, nil
}
