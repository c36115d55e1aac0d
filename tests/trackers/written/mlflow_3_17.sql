CREATE TABLE "experiments" (
	experiment_id INTEGER NOT NULL, 
	name VARCHAR(256) NOT NULL, 
	artifact_location VARCHAR(256), 
	lifecycle_stage VARCHAR(32), 
	creation_time BIGINT, 
	last_update_time BIGINT, 
	workspace VARCHAR(63) DEFAULT 'default' NOT NULL, 
	CONSTRAINT experiment_pk PRIMARY KEY (experiment_id), 
	CONSTRAINT experiments_lifecycle_stage CHECK (lifecycle_stage IN ('active', 'deleted')), 
	CONSTRAINT uq_experiments_workspace_name UNIQUE (workspace, name)
);
INSERT INTO experiments VALUES (0,'Default','/runs/mlruns/0','active',1795322039342,1795322039342,'default');
INSERT INTO experiments VALUES (1,'tiny','/runs/mlruns/1','active',1795322039351,1795322039351,'default');
CREATE TABLE "runs" (
	run_uuid VARCHAR(32) NOT NULL, 
	name VARCHAR(250), 
	source_type VARCHAR(20), 
	source_name VARCHAR(500), 
	entry_point_name VARCHAR(50), 
	user_id VARCHAR(256), 
	status VARCHAR(9), 
	start_time BIGINT, 
	end_time BIGINT, 
	source_version VARCHAR(50), 
	lifecycle_stage VARCHAR(20), 
	artifact_uri VARCHAR(200), 
	experiment_id INTEGER, deleted_time BIGINT, 
	CONSTRAINT run_pk PRIMARY KEY (run_uuid), 
	CONSTRAINT source_type CHECK (source_type IN ('NOTEBOOK', 'JOB', 'LOCAL', 'UNKNOWN', 'PROJECT')), 
	CONSTRAINT runs_lifecycle_stage CHECK (lifecycle_stage IN ('active', 'deleted')), 
	FOREIGN KEY(experiment_id) REFERENCES experiments (experiment_id), 
	CHECK (status IN ('SCHEDULED', 'FAILED', 'FINISHED', 'RUNNING', 'KILLED'))
);
INSERT INTO runs VALUES ('1c9b8d03c34c485f8d4a2ed6646c7707','my run','UNKNOWN','','','me','FINISHED',1795322040004,1795322040686,'','active','/runs/mlruns/1/1c9b8d03c34c485f8d4a2ed6646c7707/artifacts',1,NULL);
CREATE TABLE "metrics" (
	"key" VARCHAR(250) NOT NULL, 
	value FLOAT NOT NULL, 
	timestamp BIGINT NOT NULL, 
	run_uuid VARCHAR(32) NOT NULL, 
	step BIGINT DEFAULT '0' NOT NULL, 
	is_nan BOOLEAN DEFAULT '0' NOT NULL, 
	CONSTRAINT metric_pk PRIMARY KEY ("key", timestamp, step, run_uuid, value, is_nan), 
	FOREIGN KEY(run_uuid) REFERENCES runs (run_uuid), 
	CHECK (is_nan IN (0, 1))
);
INSERT INTO metrics VALUES ('train/reward',0.0,1795322040336,'1c9b8d03c34c485f8d4a2ed6646c7707',0,0);
INSERT INTO metrics VALUES ('kl',0.1,1795322040336,'1c9b8d03c34c485f8d4a2ed6646c7707',0,0);
INSERT INTO metrics VALUES ('train/reward',0.5,1795322040491,'1c9b8d03c34c485f8d4a2ed6646c7707',1,0);
INSERT INTO metrics VALUES ('kl',0.0,1795322040491,'1c9b8d03c34c485f8d4a2ed6646c7707',1,1);
INSERT INTO metrics VALUES ('train/reward',1.0,1795322040605,'1c9b8d03c34c485f8d4a2ed6646c7707',2,0);
INSERT INTO metrics VALUES ('kl',0.1,1795322040605,'1c9b8d03c34c485f8d4a2ed6646c7707',2,0);
CREATE TABLE "latest_metrics" (
	"key" VARCHAR(250) NOT NULL, 
	value FLOAT NOT NULL, 
	timestamp BIGINT, 
	step BIGINT NOT NULL, 
	is_nan BOOLEAN NOT NULL, 
	run_uuid VARCHAR(32) NOT NULL, 
	CONSTRAINT latest_metric_pk PRIMARY KEY ("key", run_uuid), 
	FOREIGN KEY(run_uuid) REFERENCES runs (run_uuid), 
	CHECK (is_nan IN (0, 1))
);
INSERT INTO latest_metrics VALUES ('train/reward',1.0,1795322040605,2,0,'1c9b8d03c34c485f8d4a2ed6646c7707');
INSERT INTO latest_metrics VALUES ('kl',0.1,1795322040605,2,0,'1c9b8d03c34c485f8d4a2ed6646c7707');
CREATE TABLE "tags" (
	"key" VARCHAR(250) NOT NULL, 
	value VARCHAR(8000), 
	run_uuid VARCHAR(32) NOT NULL, 
	CONSTRAINT tag_pk PRIMARY KEY ("key", run_uuid), 
	FOREIGN KEY(run_uuid) REFERENCES runs (run_uuid)
);
INSERT INTO tags VALUES ('mlflow.user','me','1c9b8d03c34c485f8d4a2ed6646c7707');
INSERT INTO tags VALUES ('mlflow.source.name','../ml.py','1c9b8d03c34c485f8d4a2ed6646c7707');
INSERT INTO tags VALUES ('mlflow.source.type','LOCAL','1c9b8d03c34c485f8d4a2ed6646c7707');
INSERT INTO tags VALUES ('mlflow.runName','my run','1c9b8d03c34c485f8d4a2ed6646c7707');
