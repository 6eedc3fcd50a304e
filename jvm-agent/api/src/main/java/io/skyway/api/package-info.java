/** What an application compiles against: publish, receive, take. No dependencies. */
package io.skyway.api;
