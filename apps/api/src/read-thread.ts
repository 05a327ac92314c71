/** The thread on which an API process reads cold days, as a file of its own, so that it loads nothing else. */
import { runReadThread } from '@svc/process/read-thread';

runReadThread();
