// Command kubelets sends the heartbeats of nodes: status patches like those of kubelets, at a rate that an API server may be too slow for. It reads one JSON
// line, the work, from standard input, and prints a line when it has connected. It sends until the time is over or standard input ends, waits for the answers,
// and prints one JSON line: how many heartbeats the API server has accepted, and how long that took.
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
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	tick = 10 * time.Millisecond
	// answer is enough for a busy API server.
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
	client, err := connect(kubeconfig)
	if err != nil {
		return err
	}
	input := bufio.NewReader(os.Stdin)
	todo, err := readWork(input)
	if err != nil {
		return err
	}
	fmt.Println("connected")
	ctx, end := context.WithCancel(context.Background())
	defer end()
	go func() {
		_, _ = io.Copy(io.Discard, input)
		end()
	}()
	result, err := todo.send(ctx, client)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(result)
}

func connect(kubeconfig string) (*kubernetes.Clientset, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	// Each kubelet has a limit of its own.
	config.QPS = -1
	config.Timeout = answer
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	_, err = client.ServerVersion()
	return client, err
}

func readWork(input *bufio.Reader) (work, error) {
	var todo work
	line, err := input.ReadBytes('\n')
	if err != nil {
		return todo, fmt.Errorf("the work is not one line: %w", err)
	}
	if err := json.Unmarshal(line, &todo); err != nil {
		return todo, err
	}
	if len(todo.Nodes) == 0 {
		return todo, errors.New("the work has no nodes")
	}
	return todo, nil
}

// send returns when the time is over or ctx is done, and the last answer has arrived. The first heartbeat that fails ends it with its error.
func (todo work) send(ctx context.Context, client *kubernetes.Clientset) (sent, error) {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(mostOpen)
	ticks := time.NewTicker(tick)
	defer ticks.Stop()
	started := time.Now()
	count := 0
	for passed := 0.0; passed < todo.Seconds && ctx.Err() == nil; passed = time.Since(started).Seconds() {
		for count < int(passed*todo.Rate) {
			node := todo.Nodes[count%len(todo.Nodes)]
			if !group.TryGo(func() error { return beat(client, node) }) {
				break
			}
			count++
		}
		select {
		case <-ctx.Done():
		case <-ticks.C:
		}
	}
	err := group.Wait()
	return sent{Count: count, Seconds: time.Since(started).Seconds()}, err
}

// beat patches what a kubelet patches when nothing else of its node has changed. It ignores the end of the work, so that each heartbeat has an answer.
func beat(client *kubernetes.Clientset, node string) error {
	type condition struct {
		LastHeartbeatTime metav1.Time              `json:"lastHeartbeatTime"`
		Type              corev1.NodeConditionType `json:"type"`
	}
	now := metav1.Now()
	kinds := []corev1.NodeConditionType{corev1.NodeMemoryPressure, corev1.NodeDiskPressure, corev1.NodePIDPressure, corev1.NodeReady}
	conditions := make([]condition, 0, len(kinds))
	for _, kind := range kinds {
		conditions = append(conditions, condition{LastHeartbeatTime: now, Type: kind})
	}
	patch, err := json.Marshal(map[string]any{"status": map[string]any{"conditions": conditions}})
	if err != nil {
		return err
	}
	_, err = client.CoreV1().Nodes().Patch(context.Background(), node, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	if err != nil {
		return fmt.Errorf("heartbeat of %s: %w", node, err)
	}
	return nil
}
