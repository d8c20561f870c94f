module winpool.dev/hack/pty

go 1.26.0

require github.com/creack/pty v1.1.24
