package dev.perdure.testing.scenarios;

class MemoryTransactionScenariosTest extends TransactionScenarios implements InMemory {}
