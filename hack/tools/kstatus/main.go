// Command kstatus says what kstatus, by which Flux and Helm wait, makes of Kubernetes objects: for each JSON object of its
// standard input it prints one line of JSON.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

type answer struct {
	Status  string `json:"status"`
	Message string `json:"message"`
}

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(in io.Reader, out io.Writer) error {
	objects, answers := json.NewDecoder(in), json.NewEncoder(out)
	for {
		var raw json.RawMessage
		if err := objects.Decode(&raw); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		var object unstructured.Unstructured
		// Not the decoder itself: only this reads whole numbers as int64, which kstatus wants.
		if err := object.UnmarshalJSON(raw); err != nil {
			return err
		}
		result, err := status.Compute(&object)
		if err != nil {
			return err
		}
		if err := answers.Encode(answer{result.Status.String(), result.Message}); err != nil {
			return err
		}
	}
}
