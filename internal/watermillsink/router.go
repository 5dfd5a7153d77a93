package watermillsink

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/ThreeDotsLabs/watermill"
	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/ThreeDotsLabs/watermill/message/router/middleware"

	"github.com/timerbus/timerbus/pkg/bus"
)

// newRouter creates the router for commands. The middleware added first is outermost:
//
//	labelled      adds metadata to a message without, because the poison queue writes to it
//	correlation   messages that handlers produce have the command's correlation id
//	poison queue  an error refuses the command: it goes to the dead topic, and is acknowledged
//	panics        logs panics with their stack and replaces them with errors without a stack
//	recoverer     catches panics
//	throttle      if configured; inside the recoverer, so that refused commands count too
//	the user's
//
// The innermost handler is the intake, which waits until the command is committed and answered.
func (s *Sink) newRouter(in *intake, messages <-chan *message.Message, unsubscribe context.CancelFunc) (*message.Router, error) {
	router, err := message.NewRouter(message.RouterConfig{CloseTimeout: s.config.CloseTimeout}, quiet(s.config.Logger))
	if err != nil {
		return nil, fmt.Errorf("make a router: %w", err)
	}
	poison, err := middleware.PoisonQueueWithFilter(refusals{s}, s.TopicName(bus.Dead), func(err error) bool {
		return !errors.Is(err, errGivenBack)
	})
	if err != nil {
		return nil, fmt.Errorf("make the poison queue: %w", err)
	}
	router.AddMiddleware(labelled, middleware.CorrelationID, poison, s.panics, middleware.Recoverer)
	if n := s.config.CommandsPerSecond; n > 0 {
		router.AddMiddleware(in.throttle(n))
	}
	router.AddMiddleware(s.config.Middleware...)
	router.AddConsumerHandler("timerbus-commands", s.TopicName(bus.Commands), subscription{messages, unsubscribe}, in.take)
	return router, nil
}

func labelled(next message.HandlerFunc) message.HandlerFunc {
	return func(m *message.Message) ([]*message.Message, error) {
		if m.Metadata == nil {
			m.Metadata = message.Metadata{}
		}
		return next(m)
	}
}

// panics removes stack traces from errors, because other programs read the refusals.
func (s *Sink) panics(next message.HandlerFunc) message.HandlerFunc {
	return func(m *message.Message) ([]*message.Message, error) {
		produced, err := next(m)
		if panicked, is := errors.AsType[middleware.RecoveredPanicError](err); is {
			s.config.Logger.Error("a middleware panicked", "message", m.UUID, "panic", panicked.V, "stack", panicked.Stacktrace)
			err = fmt.Errorf("%w: %v", errPanicked, panicked.V)
		}
		return produced, err
	}
}

var errPanicked = errors.New("a middleware panicked")

// quiet lowers the levels of the router's log to debug and below: the sink itself logs why a round ends.
func quiet(l *slog.Logger) watermill.LoggerAdapter {
	return watermill.NewSlogLoggerWithLevelMapping(l, map[slog.Level]slog.Level{
		slog.LevelError: slog.LevelDebug, slog.LevelInfo: slog.LevelDebug, slog.LevelDebug: watermill.LevelTrace,
	})
}

// subscription is a Subscriber with an existing subscription. A router that closes it ends the subscription and
// leaves the user's Subscriber open.
type subscription struct {
	messages    <-chan *message.Message
	unsubscribe context.CancelFunc
}

func (s subscription) Subscribe(context.Context, string) (<-chan *message.Message, error) {
	return s.messages, nil
}

func (s subscription) Close() error {
	s.unsubscribe()
	return nil
}
