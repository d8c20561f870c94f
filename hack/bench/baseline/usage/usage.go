// Package usage measures the process that calls it.
package usage

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Synced has the shape that hack/bench/coldSync.ts reads.
type Synced struct {
	Milliseconds float64 `json:"ms"`
	CPU          float64 `json:"cpuMs"`
	PeakKiB      int     `json:"peakKiB"`
	Items        int     `json:"items"`
}

// SinceStart is what the process has used so far. started is when it was started, in epoch milliseconds.
func SinceStart(started float64) (Synced, error) {
	ms := float64(time.Now().UnixMicro())/1000 - started
	cpu, err := cpuMilliseconds()
	if err != nil {
		return Synced{}, err
	}
	peak, err := peakKiB()
	return Synced{Milliseconds: ms, CPU: cpu, PeakKiB: peak}, err
}

// cpuMilliseconds is what this process has spent so far, in user and in system mode.
func cpuMilliseconds() (float64, error) {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0, err
	}
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e6, nil
}

// peakKiB is the most memory that this process ever had in RAM: VmHWM of proc(5).
func peakKiB() (int, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if rest, found := strings.CutPrefix(line, "VmHWM:"); found {
			return strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(rest), " kB"))
		}
	}
	return 0, fmt.Errorf("/proc/self/status has no VmHWM")
}
