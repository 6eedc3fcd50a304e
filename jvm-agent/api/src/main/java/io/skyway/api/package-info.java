/** What an application compiles against: publish, receive, take, object streams. No dependencies. */
package io.skyway.api;
