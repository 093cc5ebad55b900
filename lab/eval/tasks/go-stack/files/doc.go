// Package task has containers.
package task
