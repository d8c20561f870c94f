package main

import (
	"bufio"
	"encoding/json"
	"io"
	"slices"
	"sort"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
)

// record is what the operator keeps of a Node (NodeRecord in controllers/windowspool/ports/nodes.ts), field by field.
// Both sides write theirs as JSON with sorted keys, and the files must be equal.
type record struct {
	Addresses               []string          `json:"addresses"`
	Allocatable             map[string]string `json:"allocatable"`
	Annotations             map[string]string `json:"annotations"`
	Architecture            string            `json:"architecture"`
	Capacity                map[string]string `json:"capacity"`
	Conditions              []string          `json:"conditions"`
	ContainerRuntimeVersion string            `json:"containerRuntimeVersion"`
	CreatedAt               int64             `json:"createdAt"`
	Deleting                bool              `json:"deleting"`
	Images                  []string          `json:"images,omitempty"`
	KernelVersion           string            `json:"kernelVersion"`
	KubeletVersion          string            `json:"kubeletVersion"`
	Labels                  map[string]string `json:"labels"`
	Name                    string            `json:"name"`
	OperatingSystem         string            `json:"operatingSystem"`
	Ownership               *string           `json:"ownership,omitempty"`
	ProviderID              string            `json:"providerID"`
	Ready                   string            `json:"ready"`
	ReadyMessage            string            `json:"readyMessage"`
	ReadyReason             string            `json:"readyReason"`
	ResourceVersion         string            `json:"resourceVersion"`
	RuntimeHandlers         []string          `json:"runtimeHandlers"`
	Taints                  []taint           `json:"taints"`
	UID                     string            `json:"uid"`
	Unreadable              string            `json:"unreadable"`
	Unschedulable           bool              `json:"unschedulable"`
	Verified                *nodeCondition    `json:"verified,omitempty"`
	VerifiedSince           int64             `json:"verifiedSince"`
}

type nodeCondition struct {
	Message string `json:"message"`
	Reason  string `json:"reason"`
	Status  string `json:"status"`
}

type taint struct {
	Effect string `json:"effect"`
	Key    string `json:"key"`
	Value  string `json:"value,omitempty"`
}

// keepImages is set while a pool needs images.
var keepImages bool

// received counts objects.
var received atomic.Int64

// trim drops in place what a record does not hold, as controllers do in Go: the store keeps the Node itself.
func trim(object any) (any, error) {
	node, ok := object.(*corev1.Node)
	if !ok {
		return object, nil
	}
	received.Add(1)
	node.ManagedFields = nil
	if node.Annotations != nil {
		kept := annotationsOf(node)
		kept[ownership] = node.Annotations[ownership]
		node.Annotations = kept
	}
	node.OwnerReferences = nil
	node.Finalizers = nil
	node.Spec = corev1.NodeSpec{ProviderID: node.Spec.ProviderID, Taints: node.Spec.Taints, Unschedulable: node.Spec.Unschedulable}
	node.Status = corev1.NodeStatus{
		Addresses:       node.Status.Addresses,
		Capacity:        ofResources(node.Status.Capacity),
		Allocatable:     ofResources(node.Status.Allocatable),
		Conditions:      ofRecord(node.Status.Conditions),
		RuntimeHandlers: names(node.Status.RuntimeHandlers),
		Images:          ofImages(node.Status.Images),
		NodeInfo: corev1.NodeSystemInfo{
			KernelVersion:           node.Status.NodeInfo.KernelVersion,
			ContainerRuntimeVersion: node.Status.NodeInfo.ContainerRuntimeVersion,
			KubeletVersion:          node.Status.NodeInfo.KubeletVersion,
			OperatingSystem:         node.Status.NodeInfo.OperatingSystem,
			Architecture:            node.Status.NodeInfo.Architecture,
		},
	}
	return node, nil
}

// ownership is the annotation in which a pool of existing nodes records what it changed on a node.
const ownership = "winpool.dev/ownership"

// operationAnnotations are the annotations that request and record node operations.
var operationAnnotations = []string{
	"winpool.dev/replace",
	"winpool.dev/remove",
	"winpool.dev/exclude-from-drain",
	"winpool.dev/remediation",
	"winpool.dev/cordoned",
}

func annotationsOf(node *corev1.Node) map[string]string {
	found := map[string]string{}
	for _, key := range operationAnnotations {
		if value, ok := node.Annotations[key]; ok {
			found[key] = value
		}
	}
	return found
}

// ofImages drops the sizes.
func ofImages(images []corev1.ContainerImage) []corev1.ContainerImage {
	if !keepImages {
		return nil
	}
	for index := range images {
		images[index].SizeBytes = 0
	}
	return images
}

// names drops the features of handlers.
func names(handlers []corev1.NodeRuntimeHandler) []corev1.NodeRuntimeHandler {
	for index := range handlers {
		handlers[index].Features = nil
	}
	return handlers
}

const verified corev1.NodeConditionType = "winpool.dev/Verified"

// resources are those whose quantities a record has.
var resources = []corev1.ResourceName{"memory", "cpu", "ephemeral-storage", "pods", "vpc.amazonaws.com/PrivateIPv4Address"}

func ofResources(list corev1.ResourceList) corev1.ResourceList {
	found := make(corev1.ResourceList, len(resources))
	for _, name := range resources {
		if quantity, ok := list[name]; ok {
			found[name] = quantity
		}
	}
	return found
}

// ofRecord drops what a record does not have of the conditions.
func ofRecord(conditions []corev1.NodeCondition) []corev1.NodeCondition {
	found := make([]corev1.NodeCondition, 0, len(conditions))
	for _, one := range conditions {
		switch one.Type {
		case corev1.NodeReady:
			found = append(found, corev1.NodeCondition{Type: one.Type, Status: one.Status, Reason: one.Reason})
		case verified:
			found = append(found, corev1.NodeCondition{Type: one.Type, Status: one.Status, Reason: one.Reason, Message: one.Message, LastTransitionTime: one.LastTransitionTime})
		default:
			found = append(found, corev1.NodeCondition{Type: one.Type, Status: one.Status})
		}
	}
	return found
}

func recordOf(node *corev1.Node) record {
	kept := record{
		Addresses:               []string{},
		Allocatable:             quantities(node.Status.Allocatable),
		Annotations:             annotationsOf(node),
		Architecture:            node.Status.NodeInfo.Architecture,
		Capacity:                quantities(node.Status.Capacity),
		Conditions:              []string{},
		ContainerRuntimeVersion: node.Status.NodeInfo.ContainerRuntimeVersion,
		CreatedAt:               node.CreationTimestamp.UnixMilli(),
		Deleting:                node.DeletionTimestamp != nil,
		KernelVersion:           node.Status.NodeInfo.KernelVersion,
		KubeletVersion:          node.Status.NodeInfo.KubeletVersion,
		Labels:                  node.Labels,
		Name:                    node.Name,
		OperatingSystem:         node.Status.NodeInfo.OperatingSystem,
		ProviderID:              node.Spec.ProviderID,
		Ready:                   string(corev1.ConditionUnknown),
		ResourceVersion:         node.ResourceVersion,
		RuntimeHandlers:         []string{},
		Taints:                  []taint{},
		UID:                     string(node.UID),
		Unschedulable:           node.Spec.Unschedulable,
	}
	for _, condition := range node.Status.Conditions {
		switch condition.Type {
		case corev1.NodeReady:
			kept.Ready, kept.ReadyReason = string(condition.Status), condition.Reason
			if condition.Status != corev1.ConditionTrue {
				kept.ReadyMessage = condition.Message
			}
		case verified:
			kept.Verified = &nodeCondition{Message: condition.Message, Reason: condition.Reason, Status: string(condition.Status)}
			if !condition.LastTransitionTime.IsZero() {
				kept.VerifiedSince = condition.LastTransitionTime.UnixMilli()
			}
		default:
			kept.Conditions = append(kept.Conditions, string(condition.Type)+"="+string(condition.Status))
		}
	}
	for _, one := range node.Status.Addresses {
		if !slices.Contains(kept.Addresses, one.Address) {
			kept.Addresses = append(kept.Addresses, one.Address)
		}
	}
	for _, one := range node.Status.Images {
		kept.Images = append(kept.Images, one.Names...)
	}
	for _, one := range node.Status.RuntimeHandlers {
		kept.RuntimeHandlers = append(kept.RuntimeHandlers, one.Name)
	}
	if found, ok := node.Annotations[ownership]; ok {
		kept.Ownership = &found
	}
	for _, one := range node.Spec.Taints {
		kept.Taints = append(kept.Taints, taint{Effect: string(one.Effect), Key: one.Key, Value: one.Value})
	}
	return kept
}

func quantities(list corev1.ResourceList) map[string]string {
	texts := make(map[string]string, len(list))
	for name, quantity := range list {
		texts[string(name)] = quantity.String()
	}
	return texts
}

// dump writes one record a line, by name.
func dump(out io.Writer, objects []any) error {
	records := make([]record, 0, len(objects))
	for _, object := range objects {
		if node, ok := object.(*corev1.Node); ok {
			records = append(records, recordOf(node))
		}
	}
	sort.Slice(records, func(a, b int) bool { return records[a].Name < records[b].Name })
	buffered := bufio.NewWriter(out)
	encoder := json.NewEncoder(buffered)
	encoder.SetEscapeHTML(false)
	for _, one := range records {
		if err := encoder.Encode(one); err != nil {
			return err
		}
	}
	return buffered.Flush()
}
