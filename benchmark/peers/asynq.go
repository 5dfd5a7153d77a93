package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
)

// asynqDriver is asynq, tuned: due tasks are looked for every 50 ms instead of every 5 s, 256 workers.
type asynqDriver struct{}

const (
	asynqWorkers = 256
	asynqTask    = "timer"
)

func asynqRedis(in surroundings) (asynq.RedisClientOpt, error) {
	options, err := redis.ParseURL(in.Servers["redis"])
	if err != nil {
		return asynq.RedisClientOpt{}, err
	}
	return asynq.RedisClientOpt{Addr: options.Addr, PoolSize: asynqWorkers}, nil
}

// Client implements driver.
func (asynqDriver) Client(ctx context.Context, in surroundings) (client, string, error) {
	at, err := asynqRedis(in)
	if err != nil {
		return nil, "", err
	}
	server := redis.NewClient(&redis.Options{Addr: at.Addr})
	defer server.Close() //nolint:errcheck // it was only read
	info, err := server.Info(ctx, "server").Result()
	if err != nil {
		return nil, "", err
	}
	_, version, _ := strings.Cut(info, "redis_version:")
	version, _, _ = strings.Cut(version, "\r")
	return asynqClient{asynq.NewClient(at)}, moduleVersion("github.com/hibiken/asynq") + ", Redis " + version, nil
}

// Work implements driver.
func (asynqDriver) Work(ctx context.Context, in surroundings, ready func()) error {
	at, err := asynqRedis(in)
	if err != nil {
		return err
	}
	server := asynq.NewServer(at, asynq.Config{
		Concurrency: asynqWorkers, DelayedTaskCheckInterval: 50 * time.Millisecond, TaskCheckInterval: 10 * time.Millisecond,
		LogLevel: asynq.ErrorLevel, BaseContext: func() context.Context { return ctx },
	})
	to := newCaller(in.Callback, asynqWorkers)
	err = server.Start(asynq.HandlerFunc(func(ctx context.Context, task *asynq.Task) error { return to.call(ctx, task.Payload()) }))
	if err != nil {
		return fmt.Errorf("start asynq: %w", err)
	}
	ready()
	<-ctx.Done()
	server.Shutdown()
	return nil
}

type asynqClient struct{ asynq *asynq.Client }

func (c asynqClient) close() error { return c.asynq.Close() }

// create creates timers one by one, because asynq has no call for several.
func (c asynqClient) create(ctx context.Context, order creation) error {
	return inCalls(ctx, &order, func(ctx context.Context, from, upto int) error {
		for n := from; n < upto; n++ {
			task := asynq.NewTask(asynqTask, order.delivery(n))
			if _, err := c.asynq.EnqueueContext(ctx, task, asynq.ProcessAt(order.at(n))); err != nil {
				return err
			}
		}
		return nil
	})
}
