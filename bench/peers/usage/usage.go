// Package usage is how a measured program speaks: one line of JSON at a time, with the CPU time that it has used.
package usage

import (
	"encoding/json"
	"fmt"
	"os"
	"syscall"
	"time"
)

// Say writes one line of JSON to standard output.
func Say(value any) { Must(json.NewEncoder(os.Stdout).Encode(value)) }

// CPU is the user and system time of this process so far, in milliseconds.
func CPU() float64 {
	var used syscall.Rusage
	Must(syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return Milliseconds(time.Duration(used.Utime.Nano() + used.Stime.Nano()))
}

// Milliseconds of a span, with fractions.
func Milliseconds(span time.Duration) float64 { return float64(span.Microseconds()) / 1000 }

// Must ends the program with the error, if there is one.
func Must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
