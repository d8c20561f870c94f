// Command kubelets sends the heartbeats of nodes at a constant rate: status patches like those of kubelets, over connections of its own. It reads one JSON
// line, the work, from standard input. It sends until the time is over or standard input ends, waits for the answers, and prints one JSON line: how many
// heartbeats the API server has accepted, and how long that took.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	tick = 10 * time.Millisecond
	// answer is enough for a patch that waits behind thousands of others.
	answer = time.Minute
	// mostOpen is the number of heartbeats that wait for answers at the same time, so that an API server that is too slow for the rate gets fewer heartbeats.
	// Otherwise, its queue would grow until they time out. Twice as many raise the accepted rate by 1%.
	mostOpen = 16
)

// work has the shape that hack/bench/heartbeats.ts writes.
type work struct {
	Nodes []string `json:"nodes"`
	// Rate is in heartbeats per second, over all nodes in turn.
	Rate    float64 `json:"rate"`
	Seconds float64 `json:"seconds"`
}

// sent has the shape that hack/bench/heartbeats.ts reads.
type sent struct {
	Count   int     `json:"count"`
	Seconds float64 `json:"seconds"`
}

func main() {
	kubeconfig := flag.String("kubeconfig", "", "path of a kubeconfig")
	flag.Parse()
	if err := run(*kubeconfig); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(kubeconfig string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	// Each kubelet has a limit of its own.
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	input := bufio.NewReader(os.Stdin)
	line, err := input.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("the work is not one line: %w", err)
	}
	var todo work
	if err := json.Unmarshal(line, &todo); err != nil {
		return err
	}
	sending, stop := context.WithCancelCause(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, input)
		stop(errEnded)
	}()
	result := todo.send(sending, func(node string) {
		if err := beat(client, node); err != nil {
			stop(fmt.Errorf("heartbeat of %s: %w", node, err))
		}
	})
	if err := context.Cause(sending); err != nil && err != errEnded {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(result)
}

// errEnded says that enough heartbeats are sent.
var errEnded = errors.New("the standard input has ended")

func (todo work) send(ctx context.Context, beat func(node string)) sent {
	ticks := time.NewTicker(tick)
	defer ticks.Stop()
	started := time.Now()
	var open sync.WaitGroup
	slots := make(chan struct{}, mostOpen)
	count := 0
	for passed := 0.0; passed < todo.Seconds && ctx.Err() == nil; {
		select {
		case <-ctx.Done():
			continue
		case <-ticks.C:
		}
		passed = min(time.Since(started).Seconds(), todo.Seconds)
		// After a pause, all that are due are sent as fast as possible.
		for due := int(passed * todo.Rate); count < due && ctx.Err() == nil; count++ {
			node := todo.Nodes[count%len(todo.Nodes)]
			slots <- struct{}{}
			open.Go(func() {
				beat(node)
				<-slots
			})
		}
	}
	open.Wait()
	return sent{Count: count, Seconds: time.Since(started).Seconds()}
}

// beat patches what a kubelet patches when nothing else of its node has changed.
func beat(client *kubernetes.Clientset, node string) error {
	ctx, cancel := context.WithTimeout(context.Background(), answer)
	defer cancel()
	type condition struct {
		LastHeartbeatTime metav1.Time              `json:"lastHeartbeatTime"`
		Type              corev1.NodeConditionType `json:"type"`
	}
	now := metav1.Now()
	var conditions []condition
	for _, kind := range []corev1.NodeConditionType{corev1.NodeMemoryPressure, corev1.NodeDiskPressure, corev1.NodePIDPressure, corev1.NodeReady} {
		conditions = append(conditions, condition{LastHeartbeatTime: now, Type: kind})
	}
	patch, err := json.Marshal(map[string]any{"status": map[string]any{"conditions": conditions}})
	if err != nil {
		return err
	}
	_, err = client.CoreV1().Nodes().Patch(ctx, node, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	return err
}
