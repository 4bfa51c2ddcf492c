// What a pod of a test does, one thing a word: say, serve, get, resolve, write, read, list, fill, wait. One static
// program without a shell makes an image of a few megabytes that runs as any user.
package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
)

var deeds = map[string]func(words []string) error{
	"say":     say,
	"serve":   serve,
	"get":     get,
	"resolve": resolve,
	"write":   write,
	"read":    read,
	"list":    list,
	"fill":    fill,
	"wait":    wait,
}

func main() {
	if len(os.Args) < 2 || deeds[os.Args[1]] == nil {
		fail(fmt.Errorf("no such deed: %s", strings.Join(os.Args[1:], " ")))
	}
	if err := deeds[os.Args[1]](os.Args[2:]); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func say(words []string) error {
	fmt.Println(strings.Join(words, "\n"))
	return nil
}

// serve answers every request on port 8080 with the given words and the name of the pod.
func serve(words []string) error {
	name, _ := os.Hostname()
	answer := strings.Join(append(words, name), " ")
	return http.ListenAndServe(":8080", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, answer)
	}))
}

func get(words []string) error {
	client := http.Client{Timeout: 10 * time.Second}
	answer, err := client.Get(words[0])
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	_, err = io.Copy(os.Stdout, answer.Body)
	return err
}

func resolve(words []string) error {
	for _, word := range words {
		addresses, err := net.LookupHost(word)
		if err != nil {
			return err
		}
		fmt.Println(word, strings.Join(addresses, " "))
	}
	return nil
}

// write puts the second word into the file that the first one names.
func write(words []string) error {
	return os.WriteFile(words[0], []byte(words[1]), 0o644)
}

func read(words []string) error {
	content, err := os.ReadFile(words[0])
	fmt.Print(string(content))
	return err
}

func list(words []string) error {
	entries, err := os.ReadDir(words[0])
	for _, entry := range entries {
		fmt.Println(entry.Name())
	}
	return err
}

// fill takes so many MiB of memory and touches every page of it.
func fill(words []string) error {
	size, err := strconv.Atoi(words[0])
	if err != nil {
		return err
	}
	memory := make([]byte, size<<20)
	for index := 0; index < len(memory); index += 4096 {
		memory[index] = 1
	}
	fmt.Println("filled", size, "MiB")
	return wait(nil)
}

func wait([]string) error {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	<-signals
	return nil
}
