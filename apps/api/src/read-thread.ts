/** The thread on which an API process reads cold days. It has its own file so that it loads nothing else. */
import { runReadThread } from '@svc/process/read-thread';

runReadThread();
