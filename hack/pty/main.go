// Command pty runs a command in a terminal of 80 columns and 24 lines. It forwards its standard input to the terminal, prints what the
// terminal shows, and ends with the exit status of the command.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"

	"github.com/creack/pty"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: pty COMMAND [ARGUMENT...]")
		os.Exit(2)
	}
	code, err := run(exec.Command(os.Args[1], os.Args[2:]...))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

func run(command *exec.Cmd) (int, error) {
	terminal, err := pty.StartWithSize(command, &pty.Winsize{Cols: 80, Rows: 24})
	if err != nil {
		return 1, err
	}
	defer terminal.Close()
	// The input may end before the command, or after it.
	go func() { _, _ = io.Copy(terminal, os.Stdin) }()
	// When the command ends, Linux fails the read with EIO.
	_, _ = io.Copy(os.Stdout, terminal)
	err = command.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode(), nil
	}
	if err != nil {
		return 1, err
	}
	return 0, nil
}
