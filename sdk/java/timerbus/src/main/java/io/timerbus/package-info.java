/** Timerbus: durable timers. {@link io.timerbus.Timerbus} is the client; io.timerbus.webhook receives callbacks. */
package io.timerbus;
